package workqueue

import "time"

// since returns when the key at i became ready, or work on it began.
func (t *table[K]) since(i int32) *time.Duration { return &t.pages[i/size].since[i%size] }

// has reports whether there still is an entry at i.
func (t *table[K]) has(i int32) bool { return t.pages[i/size] != nil }

// addPage adds a page.
func (t *table[K]) addPage() {
	p, _ := t.pool.Get().(*page[K])
	if p == nil {
		p = new(page[K])
		if t.times {
			p.since = new([size]time.Duration)
		}
	}
	if n := len(t.holes); n > 0 {
		p.at = t.holes[n-1] * size
		t.holes = t.holes[:n-1]
		t.pages[p.at/size] = p
	} else {
		p.at = int32(len(t.pages)) * size
		t.pages = append(t.pages, p)
	}
	if p.at == 0 && p.used == 0 { // index 0 is not used
		p.used, p.n = 1, 1
		t.spare--
	}
	t.spare += size
	t.link(p)
}

// allocate returns the index of an entry of p, which has room, for a key.
func (t *table[K]) allocate(p *page[K]) int32 {
	at := p.free - 1
	if at >= 0 {
		p.free = p.entries[at].after
	} else {
		at = p.used
		p.used++
	}
	t.spare--
	if p.n++; p.n == size {
		t.unlink(p)
	}
	return p.at + at
}

// free empties an entry of p, and gives p back if it was the last and there is room
// without it.
func (t *table[K]) free(p *page[K], at int32) {
	p.entries[at] = entry[K]{after: p.free}
	p.free = at + 1
	t.spare++
	if p.n--; p.n == size-1 {
		t.link(p)
	}
	if p.n == 0 && t.spare > keep+size {
		t.unlink(p)
		t.spare -= size
		t.holes = append(t.holes, p.at/size)
		t.pages[p.at/size] = nil
		t.pool.Put(p)
		if len(t.slots) > 16*(t.n+t.spare) { // the burst is over
			t.rehash()
		}
	}
}

// link puts p first of those that have room.
func (t *table[K]) link(p *page[K]) {
	p.prev, p.next = nil, t.roomy
	if p.next != nil {
		p.next.prev = p
	}
	t.roomy = p
}

// unlink takes p out of those that have room.
func (t *table[K]) unlink(p *page[K]) {
	if p.next != nil {
		p.next.prev = p.prev
	}
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		t.roomy = p.next
	}
	p.prev, p.next = nil, nil
}
