package bench

import "time"

// processTime is not known here: what divides by it shows no number.
func processTime() time.Duration { return 0 }
