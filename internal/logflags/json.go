package logflags

import (
	"fmt"
	"log/slog"
	"time"
)

// asUpstream gives the members of a line the names and forms that they have in the JSON log of Kubernetes' programs: ts in
// milliseconds, the verbosity v in place of the level, and err. Warnings, which that log does not tell apart, keep the level.
func asUpstream(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	if a.Value.Kind() == slog.KindDuration {
		return slog.String(a.Key, a.Value.Duration().String())
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.Float64("ts", float64(a.Value.Time().UnixNano())/float64(time.Millisecond))
	case slog.LevelKey:
		level, ok := a.Value.Any().(slog.Level)
		switch {
		case !ok || level == slog.LevelWarn:
			return a
		case level > slog.LevelWarn:
			return slog.Attr{} // err tells
		}
		return slog.Int("v", int(max(0, -level)))
	case "error", "err":
		return slog.String("err", fmt.Sprint(a.Value.Any()))
	}
	return a
}
