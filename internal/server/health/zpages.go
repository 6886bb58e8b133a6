package health

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/internal/procstart"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// The paths of the z-pages (KEPs 4827 and 4828): the version that runs, and its flags.
const (
	StatuszPath = "/statusz"
	FlagzPath   = "/flagz"
)

// zpageHead precedes a page's text, in kube-apiserver's words.
const zpageHead = "\napiserver %s\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n"

// zpage has the members that both pages share in their structured form.
type zpage struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func newZpage(kind string) zpage {
	p := zpage{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: "config.k8s.io/v1beta1"}}
	p.Metadata.Name = "apiserver"
	return p
}

// Pages serves the z-pages of a process.
type Pages struct {
	Version version.Info
	// Flags are those that the process was started with; nil if /flagz is not served.
	Flags map[string]string
}

// Paths returns the paths that /statusz lists.
func (p *Pages) Paths() []string {
	list := []string{"/healthz", "/livez", "/metrics", "/metrics/slis", "/readyz", StatuszPath, "/version"}
	if p.Flags != nil {
		list = append(list, FlagzPath)
	}
	return list
}

// structured reports whether the client wants the JSON form of a page, for which it must name
// the page's kind. The error is for an Accept header that cannot be met.
func structured(c *call.Call, kind string) (bool, error) {
	accept := c.HTTP.Header.Get("Accept")
	if strings.TrimSpace(accept) == "" {
		return false, nil
	}
	for part := range strings.SplitSeq(accept, ",") {
		params := strings.Split(strings.ReplaceAll(part, " ", ""), ";")
		switch params[0] {
		case "text/plain", "text/*", "*/*":
			return false, nil
		case "application/json":
			if slices.Contains(params, "as="+kind) && slices.Contains(params, "v=v1beta1") && slices.Contains(params, "g=config.k8s.io") {
				return true, nil
			}
		}
	}
	return false, request.Negotiator{"text/plain", serializer.JSON.String()}.NotServed(false)
}

// Statusz answers with the versions and the uptime of the process.
func (p *Pages) Statusz(c *call.Call) error {
	json, err := structured(c, "Statusz")
	if err != nil {
		return err
	}
	v, up := p.Version, time.Since(procstart.Time()).Truncate(time.Second)
	binary, emulated := v.Major+"."+v.Minor, v.EmulationMajor+"."+v.EmulationMinor
	paths := p.Paths()
	slices.Sort(paths)
	if json {
		return c.WriteJSON(http.StatusOK, struct {
			zpage            `json:",inline"`
			StartTime        metav1.Time `json:"startTime"`
			UptimeSeconds    int64       `json:"uptimeSeconds"`
			GoVersion        string      `json:"goVersion"`
			BinaryVersion    string      `json:"binaryVersion"`
			EmulationVersion string      `json:"emulationVersion,omitempty"`
			Paths            []string    `json:"paths,omitempty"`
		}{newZpage("Statusz"), metav1.NewTime(procstart.Time()), int64(up.Seconds()), runtime.Version(), binary, emulated, paths})
	}
	return c.WriteText(http.StatusOK, fmt.Sprintf(zpageHead+"\nStarted:  %s\nUp:  %d hr %02d min %02d sec\nGo version:  %s\nBinary version:  %s\nEmulation version:  %s\nPaths:  %s\n",
		"statusz", procstart.Time().UTC().Format(time.UnixDate), int(up.Hours()), int(up.Minutes())%60, int(up.Seconds())%60,
		runtime.Version(), binary, emulated, strings.Join(paths, " ")))
}

// Flagz answers with the flags that the process was started with.
func (p *Pages) Flagz(c *call.Call) error {
	json, err := structured(c, "Flagz")
	if err != nil {
		return err
	}
	if json {
		return c.WriteJSON(http.StatusOK, struct {
			zpage `json:",inline"`
			Flags map[string]string `json:"flags,omitempty"`
		}{newZpage("Flagz"), p.Flags})
	}
	var text strings.Builder
	fmt.Fprintf(&text, zpageHead, "flagz")
	for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
		fmt.Fprintf(&text, "%s=%s\n", name, p.Flags[name])
	}
	return c.WriteText(http.StatusOK, text.String())
}
