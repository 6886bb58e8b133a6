package images

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Behaviors are the behaviors of a file. The methods may be called from any goroutine; those of nil find no behavior.
type Behaviors struct{ list []Behavior }

// Load reads a file of behaviors. Unknown fields are errors.
func Load(path string) (*Behaviors, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Images     []Behavior `json:"images"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.APIVersion != APIVersion || file.Kind != Kind {
		return nil, fmt.Errorf("%s: want apiVersion %s and kind %s", path, APIVersion, Kind)
	}
	var errs field.ErrorList
	for i := range file.Images {
		errs = append(errs, file.Images[i].validate(field.NewPath("images").Index(i))...)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s: %w", path, errs.ToAggregate())
	}
	return &Behaviors{file.Images}, nil
}

func (b *Behavior) validate(at *field.Path) (errs field.ErrorList) {
	if b.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), "the pattern of the images"))
	}
	if b.Size != nil && b.Size.Sign() <= 0 {
		errs = append(errs, field.Invalid(at.Child("size"), b.Size.String(), "must be greater than 0"))
	}
	for name, s := range map[string]*Span{"pullTime": b.PullTime, "startTime": b.StartTime, "readyTime": b.ReadyTime} {
		if s != nil && s.Forever {
			errs = append(errs, field.Invalid(at.Child(name), "forever", "only runTime may be forever"))
		}
	}
	sum := 0
	for i := range b.Exits {
		e := &b.Exits[i]
		if e.weight() < 0 {
			errs = append(errs, field.Invalid(at.Child("exits").Index(i).Child("weight"), *e.Weight, "must not be negative"))
		}
		if e.Code < 0 || e.Code > 255 {
			errs = append(errs, field.Invalid(at.Child("exits").Index(i).Child("code"), e.Code, "must be between 0 and 255"))
		}
		sum += e.weight()
	}
	if len(b.Exits) > 0 && sum <= 0 {
		errs = append(errs, field.Invalid(at.Child("exits"), sum, "the sum of the weights must be greater than 0"))
	}
	for i := range b.Usage {
		if i > 0 && b.Usage[i].After.Duration <= b.Usage[i-1].After.Duration {
			errs = append(errs, field.Invalid(at.Child("usage").Index(i).Child("after"), b.Usage[i].After.Duration.String(), "must be later than that of the point before"))
		}
	}
	return errs
}
