package logflags

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// module is an item of --vmodule: the pattern of a file's name without .go, and the level of its lines.
type module struct {
	pattern string
	level   slog.Level
}

// parseModules parses the value of --vmodule.
func parseModules(text string) (list []module, err error) {
	if text == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		pattern, verbosity, ok := strings.Cut(item, "=")
		v, err := strconv.Atoi(verbosity)
		if !ok || pattern == "" || err != nil || v < 0 {
			return nil, fmt.Errorf("%q: want PATTERN=N, where N is 0 or more", item)
		}
		if _, err := filepath.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		list = append(list, module{pattern, levelOf(v)})
	}
	return list, nil
}

// everything is below each level.
const everything = slog.Level(math.MinInt)

// files knows the levels of source files. The first pattern that matches a file counts.
type files struct {
	modules []module
	// levels has the *slog.Level of each program counter that has logged; nil for a file that no pattern matches.
	levels sync.Map
}

// level returns the level of the file of a line, by the program counter of the call that logged it.
func (f *files) level(pc uintptr) *slog.Level {
	if known, ok := f.levels.Load(pc); ok {
		return known.(*slog.Level)
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	name := strings.TrimSuffix(filepath.Base(frame.File), ".go")
	var level *slog.Level
	for i := range f.modules {
		if matches, _ := filepath.Match(f.modules[i].pattern, name); matches { // the patterns are valid
			level = &f.modules[i].level
			break
		}
	}
	f.levels.Store(pc, level)
	return level
}

// byModule is a handler with a level for each source file.
type byModule struct {
	slog.Handler              // of all levels
	level        slog.Leveler // of files that no pattern matches
	files        *files
}

// Enabled returns true for levels of which some file may have lines.
func (h *byModule) Enabled(_ context.Context, level slog.Level) bool {
	if level >= h.level.Level() {
		return true
	}
	for _, m := range h.files.modules {
		if level >= m.level {
			return true
		}
	}
	return false
}

func (h *byModule) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < h.level.Level() {
		if level := h.files.level(r.PC); level == nil || r.Level < *level {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h *byModule) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &byModule{h.Handler.WithAttrs(attrs), h.level, h.files}
}

func (h *byModule) WithGroup(name string) slog.Handler {
	return &byModule{h.Handler.WithGroup(name), h.level, h.files}
}
