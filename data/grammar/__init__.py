"""A seeded bilingual grammar that writes Portuguese and English sentences together.

lexicon      the tables of ../lexicon/
portuguese   morphology                    english     morphology
phrases      nouns, subjects, places       clauses     actions, times, verb phrases
families     how a sentence family is registered; family_* are the families, by construction
writing      finished sentences, drawn by family in proportion to their shares

A *pair* is a tuple (Portuguese, English). Each Portuguese word sense and construction has one
English rendering, so that the English follows from the Portuguese. The Portuguese is Brazilian, the
English American.
"""
