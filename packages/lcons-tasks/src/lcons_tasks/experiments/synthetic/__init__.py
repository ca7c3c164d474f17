"""The experiment on synthetic integer programs: hidden constraints, learned only from the solutions."""
