"""What `/memory` and `/save` do, by verb: `looking` shows, `changing` changes, `wording` reads what was typed."""
