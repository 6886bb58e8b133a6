package topic

// A Queue holds the topics that have something new for their readers until their bells are rung.
type Queue struct{ topics []*Topic }

func (q *Queue) add(t *Topic) {
	if !t.queued {
		t.queued = true
		q.topics = append(q.topics, t)
	}
}

// Take empties the queue and returns the topics to ring.
func (q *Queue) Take() []*Topic {
	topics := q.topics
	q.topics = nil
	for _, t := range topics {
		t.queued = false
	}
	return topics
}
