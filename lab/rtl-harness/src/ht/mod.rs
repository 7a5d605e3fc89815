//! The HT-Core: its link partner, its user, and the tests between them.
