package images

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// APIVersion and Kind are those of a file of behaviors.
const (
	APIVersion = "config.fairlead.dev/v1alpha1"
	Kind       = "ImageBehaviors"
)

// Behavior describes the containers of images: how long they take, how they end, and what they use.
type Behavior struct {
	// Image is the pattern of the images: * stands for any characters, ? for one. A pattern without a tag and a digest
	// matches images with any.
	Image string `json:"image"`
	// Size is the size of the image that nodes report.
	Size *resource.Quantity `json:"size,omitempty"`
	// PullTime is how long a node that does not have the image pulls it.
	PullTime *Span `json:"pullTime,omitempty"`
	// StartTime is how long a container takes to start when its image is there.
	StartTime *Span `json:"startTime,omitempty"`
	// ReadyTime is how long after its start a container passes its startup and readiness probes.
	ReadyTime *Span `json:"readyTime,omitempty"`
	// RunTime is how long a container runs.
	RunTime *Span `json:"runTime,omitempty"`
	// Exits are the ways in which containers end, of which each run has one by chance.
	Exits []Exit `json:"exits,omitempty"`
	// Usage is what a container uses over its time, linear between the points.
	Usage []Point `json:"usage,omitempty"`
}

// Exit is a way in which a container ends.
type Exit struct {
	Code int32 `json:"code"`
	// Reason is that of the terminated container, such as OOMKilled; by default Completed, or Error for another code than 0.
	Reason string `json:"reason,omitempty"`
	// Weight is the share of the runs that end in this way, of the sum of all weights; 1 by default.
	Weight *int `json:"weight,omitempty"`
}

func (e *Exit) weight() int {
	if e.Weight == nil {
		return 1
	}
	return *e.Weight
}

// Of returns the first behavior whose pattern matches an image; nil without one.
func (b *Behaviors) Of(image string) *Behavior {
	if b == nil {
		return nil
	}
	for i := range b.list {
		if b.list[i].matches(image) {
			return &b.list[i]
		}
	}
	return nil
}

// Size returns the size of an image in bytes: the declared one, or an invented one.
func (b *Behaviors) Size(image string) int64 {
	if of := b.Of(image); of != nil && of.Size != nil {
		return of.Size.Value()
	}
	return inventedSize(image)
}

func (b *Behavior) matches(image string) bool {
	if strings.ContainsAny(b.Image[strings.LastIndexByte(b.Image, '/')+1:], ":@") {
		return match(b.Image, image)
	}
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return match(b.Image, image)
}

// match reports whether a text matches a pattern of * and ?.
func match(pattern, text string) bool {
	star, from := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
