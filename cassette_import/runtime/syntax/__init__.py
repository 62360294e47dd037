"""The functions that rewritten syntax calls, whichever context is active.

* `iteration`: loops, splats and unpacking
* `delegation`: `yield from` and `async for`
* `blocks`: `with` blocks, `from … import …`, displays of constants, the start of a debugger
* `operations`: operators whose operands are in another order, names in class bodies, argument-free hooks
* `operand_stack`: values between two parts of a statement, where there are no variables for them
"""
