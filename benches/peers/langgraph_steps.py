"""LangGraph: an agent node and a tool node that take no time, with checkpoints in memory and in SQLite."""

import operator
import sqlite3
import tempfile
from typing import Annotated, TypedDict

from common import STEPS, fastest, tell
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    messages: Annotated[list, operator.add]
    step: int


def agent(state):
    call = {"name": "tool_0", "args": {"query": "bench"}, "id": f"c{state['step']}"}
    return {"messages": [AIMessage("I need tool 0 for this.", tool_calls=[call])], "step": state["step"] + 1}


def tools(state):
    call = state["messages"][-1].tool_calls[0]
    return {"messages": [ToolMessage("something", tool_call_id=call["id"])]}


def steps(saver):
    graph = StateGraph(State)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", "tools")
    graph.add_conditional_edges("tools", lambda state: "agent" if state["step"] < STEPS else END)
    runner, runs = graph.compile(checkpointer=saver), iter(range(10**9))

    def run():
        config = {"configurable": {"thread_id": str(next(runs))}, "recursion_limit": 10 * STEPS}
        runner.invoke({"messages": [HumanMessage("Find out.")], "step": 0}, config)

    return fastest(run, STEPS)


in_memory = steps(InMemorySaver())
with tempfile.TemporaryDirectory() as folder:
    with sqlite3.connect(f"{folder}/steps.sqlite", check_same_thread=False) as connection:
        durable = steps(SqliteSaver(connection))
tell("langgraph", memory=in_memory, disk=durable)
