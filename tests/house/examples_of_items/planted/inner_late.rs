//! Calls a macro that the root declares behind it.

late!(unnamed_of_late);
