package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func ValidatePod(p *corev1.Pod) field.ErrorList                 { return nil }
func ValidatePodUpdate(p, old *corev1.Pod) field.ErrorList       { return nil }
func ValidatePodStatusUpdate(p, old *corev1.Pod) field.ErrorList { return nil }
func ValidateEphemeralUpdate(p, old *corev1.Pod) field.ErrorList { return nil }
func ValidateResize(p, old *corev1.Pod) field.ErrorList          { return nil }
func Warnings(p *corev1.Pod) []string                            { return nil }
