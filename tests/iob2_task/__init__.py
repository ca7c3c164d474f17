"""A task outside the packages: how many sequences show that labels are IOB2?"""
