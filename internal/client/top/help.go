package top

import tea "charm.land/bubbletea/v2"

// everywhere are the keys that all screens have.
var everywhere = []hint{
	{"o", "Overview: what is not well, nodes, rates of writes"},
	{"b", "Browse: the objects of a kind"},
	{"t", "Trace: events as they happen"},
	{":", "go to a kind, as :pods, :deploy or :po kube-system"},
	{"n", "choose a namespace; 0 is all"},
	{"Esc", "back"},
	{"?", "this help"},
	{"q, Ctrl-C", "quit; Ctrl-Z suspends"},
}

// moving are the keys of lists and texts.
var moving = []hint{
	{"↑ ↓, k j", "a line"},
	{"PgUp PgDn", "a page"},
	{"Home End, g G", "first and last line"},
}

// help is the screen of the keys.
type help struct {
	of    []hint // those of the screen below
	pager pager
}

func newHelp(of screen) *help { return &help{of: of.hints()} }

func (s *help) open(*Model) tea.Cmd            { return nil }
func (s *help) close()                         {}
func (s *help) update(*Model, tea.Msg) tea.Cmd { return nil }
func (s *help) title(*Model) string            { return "Keys  " + s.pager.place() }
func (s *help) hints() []hint                  { return []hint{{"Esc", "back"}, {"↑ ↓", "scroll"}, {"/", "search"}} }

func (s *help) key(m *Model, key string) (tea.Cmd, bool) {
	if key == "?" {
		m.pop()
		return nil, true
	}
	return s.pager.key(m, key)
}

func (s *help) draw(_ *Model, w, h int) []string {
	left := append(section("Keys of this view", s.of), section("Moving", moving)...)
	right := section("Everywhere", everywhere)
	if w >= 100 {
		s.pager.set(beside(left, right, w/2, max(len(left), len(right))))
	} else {
		s.pager.set(append(left, right...))
	}
	return s.pager.draw(w, h)
}

func section(head string, hints []hint) []string {
	all := []string{bold.of(head)}
	for _, h := range hints {
		all = append(all, "  "+cyan.of(fit(h.key, 14))+" "+h.effect)
	}
	return append(all, "")
}
