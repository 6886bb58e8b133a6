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
			Short("cj").In("all").WithStatus().
			Shown(cronJobTable).Ruled(cronJobStrategy()),
		resource.NamespaceScoped[batchv1.Job, batchv1.JobList](gv, "jobs").
			In("all").WithStatus().
			Refuse(func(_ schema.GroupVersionKind, label string) error {
				return fmt.Errorf("field label %q not supported for Job", label)
			}).
			Select(resource.Field{Label: "status.successful", Zero: "0", Paths: [][]string{{"status", "succeeded"}}}).
			Shown(jobTable).Ruled(jobStrategy()),
	}
}
