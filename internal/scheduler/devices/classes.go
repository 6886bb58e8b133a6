package devices

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// SetClass adds or replaces a class.
func (s *State) SetClass(c *resourcev1.DeviceClass) {
	s.classes[c.Name] = c
	s.classesChanged()
}

// RemoveClass removes a class.
func (s *State) RemoveClass(name string) {
	delete(s.classes, name)
	s.classesChanged()
}

// classesChanged finds the class of each extended resource again. Among classes with the same
// extendedResourceName the newest wins, then the first by name.
func (s *State) classesChanged() {
	s.answers.drop()
	clear(s.byResource)
	for _, c := range s.classes {
		s.byResource[corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix+c.Name)] = c
		if c.Spec.ExtendedResourceName == nil {
			continue
		}
		name := corev1.ResourceName(*c.Spec.ExtendedResourceName)
		if other := s.byResource[name]; other == nil || cmp.Or(c.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(other.Name, c.Name)) > 0 {
			s.byResource[name] = c
		}
	}
}

// Class returns the class of that name.
func (s *State) Class(name string) (*resourcev1.DeviceClass, bool) {
	c, ok := s.classes[name]
	return c, ok
}

// ClassOf returns the class whose devices an extended resource stands for, or nil.
func (s *State) ClassOf(resource corev1.ResourceName) *resourcev1.DeviceClass {
	return s.byResource[resource]
}

// lister shows the classes to the allocator.
type lister struct{ *State }

func (l lister) List() (all []*resourcev1.DeviceClass, _ error) {
	for _, c := range l.classes {
		all = append(all, c)
	}
	return all, nil
}

func (l lister) Get(name string) (*resourcev1.DeviceClass, error) {
	if c, ok := l.classes[name]; ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclass"), name)
}
