package health

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// Pages serves the z-pages of a process.
type Pages struct {
	Version version.Info
	// Flags are those that the process was started with; nil if /flagz is not served.
	Flags map[string]string
}

// Paths returns the paths of documents about the process.
func (p *Pages) Paths() []string {
	list := []string{"/healthz", "/livez", "/metrics", "/metrics/slis", "/readyz", StatuszPath, "/version"}
	if p.Flags != nil {
		list = append(list, FlagzPath)
	}
	return list
}

// The versions of the pages' objects. The older one is deprecated.
const (
	pageGroup      = "config.k8s.io"
	pageVersion    = "v1beta1"
	pageOldVersion = "v1alpha1"
)

// answer writes a page: its text, or the object that object makes for a head.
func answer(c *call.Call, kind string, text func() string, object func(zpage) any) error {
	f, err := c.Negotiator.NegotiateDocument(c.HTTP, pageGroup, kind, pageVersion, pageOldVersion)
	if err != nil {
		return err
	}
	if f.Text {
		return c.WriteText(http.StatusOK, text())
	}
	if f.Version == pageOldVersion {
		c.Writer.Header().Set("Warning", fmt.Sprintf(`299 - "This version of the %s endpoint is deprecated. Please use a newer version."`, strings.ToLower(kind)))
	}
	head := zpage{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: pageGroup + "/" + f.Version}}
	head.Metadata.Name = "apiserver"
	data, err := encode(object(head), f)
	if err != nil {
		return err
	}
	return c.WriteBytes(http.StatusOK, fmt.Sprintf("%s;g=%s;v=%s;as=%s", f.Media, pageGroup, f.Version, kind), data)
}

// encode encodes a page's object.
func encode(page any, f request.DocumentFormat) ([]byte, error) {
	data, err := json.Marshal(page)
	if err != nil {
		return nil, err
	}
	if f.Media != serializer.CBOR {
		return serializer.FinishJSON(data, f.Media, f.Pretty)
	}
	var u unstructured.Unstructured
	if err := json.Unmarshal(data, &u.Object); err != nil {
		return nil, err
	}
	return serializer.EncodeBody(&u, f.Media, false)
}

// folders returns the first parts of the paths, without /statusz itself, as kube-apiserver's page lists them.
func (p *Pages) folders() (list []string) {
	for _, path := range p.Paths() {
		if folder, _, _ := strings.Cut(path[1:], "/"); path != StatuszPath {
			list = append(list, "/"+folder)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Statusz answers with the versions and the uptime of the process.
func (p *Pages) Statusz(c *call.Call) error {
	v, up := p.Version, time.Since(procstart.Time()).Truncate(time.Second)
	binary, emulated := strings.TrimPrefix(v.GitVersion, "v"), v.EmulationMajor+"."+v.EmulationMinor
	paths := p.folders()
	return answer(c, "Statusz", func() string {
		return fmt.Sprintf(zpageHead+"\nStarted:  %s\nUp:  %d hr %02d min %02d sec\nGo version:  %s\nBinary version:  %s\nEmulation version:  %s\nPaths:  %s\n",
			"statusz", procstart.Time().UTC().Format(time.UnixDate), int(up.Hours()), int(up.Minutes())%60, int(up.Seconds())%60,
			runtime.Version(), binary, emulated, strings.Join(paths, " "))
	}, func(head zpage) any {
		return struct {
			zpage            `json:",inline"`
			StartTime        metav1.Time `json:"startTime"`
			UptimeSeconds    int64       `json:"uptimeSeconds"`
			GoVersion        string      `json:"goVersion"`
			BinaryVersion    string      `json:"binaryVersion"`
			EmulationVersion string      `json:"emulationVersion,omitempty"`
			Paths            []string    `json:"paths"`
		}{head, metav1.NewTime(procstart.Time()), int64(up.Seconds()), runtime.Version(), binary, emulated, paths}
	})
}

// Flagz answers with the flags that the process was started with.
func (p *Pages) Flagz(c *call.Call) error {
	return answer(c, "Flagz", func() string {
		var text strings.Builder
		fmt.Fprintf(&text, zpageHead, "flagz")
		for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
			fmt.Fprintf(&text, "%s=%s\n", name, p.Flags[name])
		}
		return text.String()
	}, func(head zpage) any {
		return struct {
			zpage `json:",inline"`
			Flags map[string]string `json:"flags,omitempty"`
		}{head, p.Flags}
	})
}
