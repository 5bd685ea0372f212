"""COPA: players that attend to entities, and a coach that sees all of them and speaks now and then."""
