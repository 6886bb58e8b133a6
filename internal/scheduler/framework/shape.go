package framework

// A Shape is a curve of scores by utilization, by its points in the order of their utilization.
type Shape []ShapePoint

// A ShapePoint is the score, 0 to 100, of a utilization in percent.
type ShapePoint struct{ Utilization, Score int64 }

// At returns the score at a utilization: on the straight line between the neighbouring points, and that of the first or
// last point beyond them.
func (s Shape) At(use int64) int64 {
	for i, p := range s {
		if use > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score
		}
		from := s[i-1]
		return from.Score + (p.Score-from.Score)*(use-from.Utilization)/(p.Utilization-from.Utilization)
	}
	return s[len(s)-1].Score
}
