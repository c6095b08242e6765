"""Generates a formal research plan, governed by `tooling/research_fsm.json`, for a given topic.

    python3 tooling/research_planner.py "TOPIC" [RESEARCH_ID] > research/plan.plan
    python3 tooling/fdc_cli.py lint research/plan.plan

The plan has the five phases of the research protocol: review the documents, scope the question,
gather broadly, extract and check, synthesise and write one report.
"""

from fdc_packs.research.planner_script import main, plan_deep_research

__all__ = ["main", "plan_deep_research"]

if __name__ == "__main__":
    raise SystemExit(main())
