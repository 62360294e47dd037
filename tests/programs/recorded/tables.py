"""Writes rows into a database with SQLAlchemy, and reads them."""

import time

from sqlalchemy import Column, Float, Integer, String, create_engine, func, select
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Tea(Base):
    __tablename__ = "tea"
    id = Column(Integer, primary_key=True)
    name = Column(String)
    at = Column(Float, default=time.time)


engine = create_engine("sqlite:///tea.db")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all([Tea(name=name) for name in ("green", "black", "oolong")])
    session.commit()
    for tea in session.scalars(select(Tea).order_by(Tea.name)):
        print(tea.id, tea.name, tea.at)
    print(session.execute(select(func.count(Tea.id))).scalar_one())
