package trace

import "time"

// QueuePoint is how many batches were ready at a moment.
type QueuePoint struct {
	At    time.Duration `json:"at_ns"`
	Depth int           `json:"depth"`
}

// QueueSummary is how full the queue in front of the trainer was, each time it
// asked for a batch. The figures are of all times, the points are thinned.
type QueueSummary struct {
	Count     int64        `json:"count"`      // times asked
	Empty     int64        `json:"empty"`      // times nothing was ready
	Mean      float64      `json:"mean"`       // batches
	Max       int          `json:"max"`        // batches
	KeptEvery int64        `json:"kept_every"` // 1 in so many points is kept
	Points    []QueuePoint `json:"points"`     // in order of time; the newest 1,024 are all there
}

// queueRecord keeps the points in bounded memory.
type queueRecord struct {
	count, empty, sum int64
	max               int
	kept              []QueuePoint // every keepEvery-th, from the first
	keepEvery         int64        // a power of two
	tail              []QueuePoint // ring of the newest, at count % tailSpans
}

func newQueueRecord(limit int) queueRecord {
	// One point alone could not be thinned.
	q := queueRecord{kept: make([]QueuePoint, max(2, limit)), keepEvery: 1, tail: make([]QueuePoint, tailSpans)}
	touch(q.kept)
	touch(q.tail)
	q.kept = q.kept[:0]
	return q
}

func (q *queueRecord) add(p QueuePoint) {
	if p.Depth == 0 {
		q.empty++
	}
	q.sum += int64(p.Depth)
	q.max = max(q.max, p.Depth)
	q.tail[q.count%tailSpans] = p
	if q.count%q.keepEvery == 0 {
		if len(q.kept) == cap(q.kept) {
			q.thin()
		}
		if q.count%q.keepEvery == 0 {
			q.kept = append(q.kept, p)
		}
	}
	q.count++
}

// thin keeps every second point.
func (q *queueRecord) thin() {
	kept := q.kept[:0]
	for i := 0; i < len(q.kept); i += 2 {
		kept = append(kept, q.kept[i])
	}
	q.kept = kept
	q.keepEvery *= 2
}

// summary is nil when the trainer never asked.
func (q *queueRecord) summary() *QueueSummary {
	if q.count == 0 {
		return nil
	}
	s := &QueueSummary{
		Count: q.count, Empty: q.empty, Max: q.max, KeptEvery: q.keepEvery,
		Mean: float64(q.sum) / float64(q.count),
	}
	tailStart := max(0, q.count-tailSpans)
	for i, p := range q.kept {
		if int64(i)*q.keepEvery < tailStart {
			s.Points = append(s.Points, p)
		}
	}
	for i := tailStart; i < q.count; i++ {
		s.Points = append(s.Points, q.tail[i%tailSpans])
	}
	return s
}
