// Package batch describes the kinds of group batch: work that ends.
package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := batchv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.NamespaceScoped[batchv1.CronJob, batchv1.CronJobList](gv, "cronjobs").
			WithShortNames("cj").WithCategories("all").WithStatus().
			WithTable(cronJobTable).WithStrategy(cronJobStrategy()),
		resource.NamespaceScoped[batchv1.Job, batchv1.JobList](gv, "jobs").
			WithCategories("all").WithStatus().
			WithSelectorError(func(_ schema.GroupVersionKind, label string) error {
				return fmt.Errorf("field label %q not supported for Job", label)
			}).
			WithSelectableFields(resource.Field{Label: "status.successful", Zero: "0", Paths: [][]string{{"status", "succeeded"}}}).
			WithTable(jobTable).WithStrategy(jobStrategy()),
	}
}
