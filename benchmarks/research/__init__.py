"""How well `fdc explore` and `fdc research` answer questions with known answers, beside ripgrep and BM25."""
