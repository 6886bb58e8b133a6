package serverflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

func registerFrontProxy(set *pflag.FlagSet, f *controlplane.FrontProxy) {
	h := &f.Headers
	set.StringVar(&f.CAFile, "requestheader-client-ca-file", "", "file with CAs of front proxies besides the server's own, which pass their clients' users in headers")
	set.StringSliceVar(&f.Names, "requestheader-allowed-names", nil, "common names of the certificates of front proxies (default any)")
	set.StringSliceVar(&h.Users, "requestheader-username-headers", nil, "headers in which front proxies pass the user's name, such as X-Remote-User; the first with a value counts")
	set.StringSliceVar(&h.UIDs, "requestheader-uid-headers", nil, "headers in which front proxies pass the user's UID, X-Remote-Uid and others; the first with a value counts")
	set.StringSliceVar(&h.Groups, "requestheader-group-headers", nil, "headers in which front proxies pass the user's groups, such as X-Remote-Group")
	set.StringSliceVar(&h.ExtraPrefixes, "requestheader-extra-headers-prefix", nil, "beginnings of the headers in which front proxies pass other facts about the user, such as X-Remote-Extra-")
}

func checkFrontProxy(f *controlplane.FrontProxy) error {
	h := f.Headers
	for _, flag := range []struct {
		name   string
		values []string
	}{
		{"requestheader-username-headers", h.Users}, {"requestheader-uid-headers", h.UIDs},
		{"requestheader-group-headers", h.Groups}, {"requestheader-extra-headers-prefix", h.ExtraPrefixes},
		{"requestheader-allowed-names", f.Names},
	} {
		if slices.ContainsFunc(flag.values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			return fmt.Errorf("--%s: a value is empty", flag.name)
		}
	}
	if len(h.UIDs) > 0 && !slices.ContainsFunc(h.UIDs, func(v string) bool { return strings.EqualFold(v, "X-Remote-Uid") }) {
		return errors.New("--requestheader-uid-headers: want X-Remote-Uid too, which API aggregation uses")
	}
	return nil
}
