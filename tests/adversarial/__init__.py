"""The product under attack: what a careless program, a curious colleague and a bad day send it.

`furnishing` builds one harness with something of everything, and lists every address of the API and every page. Each module takes one
kind of attack: odd requests (`test_odd_requests`, `test_odd_forms`), rights (`test_rights`, `test_two_people`), races (`test_races`),
texts that are code or never end (`test_time_bombs`, `test_hostile_texts`). Every hole that was found is a test here first.
"""
