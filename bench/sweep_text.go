package bench

func (r *Result) textSweep(w *textWriter) {}
