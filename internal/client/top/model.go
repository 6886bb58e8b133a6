package top

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
)

// tickPeriod is how often ages, rates and the answers of refreshers are looked at.
const tickPeriod = 500 * time.Millisecond

// tick is the time.
type tick time.Time

func ticks() tea.Cmd { return tea.Tick(tickPeriod, func(at time.Time) tea.Msg { return tick(at) }) }

// screen is one view. draw returns at most h lines.
type screen interface {
	// open starts the requests of the screen, also when it is opened again; close ends them.
	open(m *Model) tea.Cmd
	close()
	// update handles messages other than keys.
	update(m *Model, msg tea.Msg) tea.Cmd
	// key handles a key, and reports whether the screen has it.
	key(m *Model, key string) (tea.Cmd, bool)
	title(m *Model) string
	hints() []hint
	draw(m *Model, w, h int) []string
}

// hint is a key with its effect.
type hint struct{ key, effect string }

// Model is the state of the program.
type Model struct {
	link     *link
	describe func(error) string // words an error for a person
	host     string

	width, height int
	now           time.Time
	kinds         []client.APIResource
	namespace     string // "" for all
	resource      string // the last browsed
	trace         trace
	last          int // the last id of a question or stream

	stack  []screen // the visible one is the last
	prompt *prompt  // open input line, or nil
	doomed *object  // waits for the confirmation of its deletion
	notice string   // the result of the last action
	outage string   // why the server does not answer, "" while it does
}

// newModel makes the model with its first screen.
func newModel(l *link, o Options) *Model {
	m := &Model{link: l, describe: o.Describe, host: o.Host, kinds: o.Kinds, namespace: o.Namespace, resource: "pods", width: 80, height: 24, now: time.Now()}
	m.trace.id = m.id()
	m.stack = []screen{newOverview()}
	return m
}

// id returns a new id for a question or a stream.
func (m *Model) id() int {
	m.last++
	return m.last
}

// Init starts the clock, the trace and the first screen.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(ticks(), m.link.events(m.trace.id), m.screen().open(m))
}

// screen is the visible screen.
func (m *Model) screen() screen { return m.stack[len(m.stack)-1] }

// show replaces all screens by one.
func (m *Model) show(s screen) tea.Cmd {
	for _, old := range m.stack {
		old.close()
	}
	m.stack = []screen{s}
	return s.open(m)
}

// push opens a screen above the visible one.
func (m *Model) push(s screen) tea.Cmd {
	m.stack = append(m.stack, s)
	return s.open(m)
}

// pop returns to the screen below.
func (m *Model) pop() {
	if len(m.stack) > 1 {
		m.screen().close()
		m.stack = m.stack[:len(m.stack)-1]
	}
}

// Update handles a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			return m, m.prompt.insert(m, clean(msg.Content))
		}
		return m, nil
	case tick:
		m.now = time.Time(msg)
		return m, tea.Batch(ticks(), m.tell(msg))
	case batch[traced]:
		return m, tea.Batch(m.traced(msg), m.tell(msg))
	case answer[[]client.APIResource]:
		if _, ok := m.heard(msg.err); ok {
			m.kinds = msg.it
			if m.prompt != nil {
				return m, m.prompt.changed(m)
			}
		}
		return m, nil
	case answer[names]:
		switch refusal, ok := m.heard(msg.err); {
		case refusal != nil:
			m.notice = m.describe(refusal)
		case ok && m.prompt != nil:
			m.prompt.offer(m, msg.it)
		}
		return m, nil
	case answer[removed]:
		switch refusal, ok := m.heard(msg.err); {
		case ok:
			m.notice = "Deleted " + msg.it.what.String()
		case refusal != nil:
			m.notice = m.describe(refusal)
		default:
			m.notice = "It is not known whether the object was deleted"
		}
		return m, nil
	}
	return m, m.tell(msg)
}

// tell hands a message to all screens.
func (m *Model) tell(msg tea.Msg) tea.Cmd {
	var all []tea.Cmd
	for _, s := range m.stack {
		all = append(all, s.update(m, msg))
	}
	return tea.Batch(all...)
}

// heard notes whether the server has answered. ok reports an answer without an error, and refusal is the error with which it
// has answered. Both are unset without an answer: the status line reports that until the next one, and the question is repeated.
func (m *Model) heard(err error) (refusal error, ok bool) {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) || errors.Is(err, errForgotten) || errors.Is(err, lives.ErrNone) || errors.Is(err, lives.ErrNoKind) {
		m.outage = ""
		return err, err == nil
	}
	switch {
	case errors.Is(err, context.Canceled):
	case client.IsUnreachable(err):
		m.outage = m.describe(err)
	default:
		m.outage = "the connection to " + m.host + " broke: " + m.describe(err)
	}
	return nil, false
}

// find finds a kind by any of its names, or returns false.
func (m *Model) find(name string) (client.APIResource, bool) {
	r, err := lives.Find(m.kinds, name)
	return r, err == nil
}
