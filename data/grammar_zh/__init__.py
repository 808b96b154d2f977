"""A seeded bilingual grammar that writes Chinese and English sentences together, for beginners.

lexicon      the tables of ../lexicon_zh/
phrases      nouns with their measure words, people, numbers, places
clauses      actions, tenses, and how both languages ask and deny
patterns     sentences with gaps (../lexicon_zh/patterns.tsv)
families     sentences by construction; each family has its share of the corpus
writing      finished sentences, drawn by family in proportion to their shares

A *pair* is a tuple (Chinese, English). Each Chinese word sense and construction has one English
rendering, so that the English follows from the Chinese. The Chinese is that of the mainland, in
simplified characters; the English is American. English forms and seeded choices are those of
../grammar/.
"""
