package batch

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // specs name time zones, and not every machine has their database

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var cronJobTable = resource.TableOf(func(c *batchv1.CronJob) []any {
	last := resource.None
	if c.Status.LastScheduleTime != nil {
		last = resource.Since(*c.Status.LastScheduleTime)
	}
	suspend := resource.Unset
	if c.Spec.Suspend != nil {
		suspend = "False"
		if *c.Spec.Suspend {
			suspend = "True"
		}
	}
	job := &c.Spec.JobTemplate.Spec
	names, images := resource.Containers(job.Template.Spec.Containers)
	return []any{
		c.Name, c.Spec.Schedule, ptr.Deref(c.Spec.TimeZone, resource.None), suspend, int64(len(c.Status.Active)), last, resource.AgeOf(c),
		names, images, metav1.FormatLabelSelector(job.Selector),
	}
},
	resource.NameColumn,
	resource.Text("Schedule", "When jobs are made, in cron's words."),
	resource.Text("Timezone", "Whose clock the schedule goes by."),
	resource.Boolean("Suspend", "Whether no jobs are made for now."),
	resource.Integer("Active", "How many jobs are running."),
	resource.Text("Last Schedule", "When a job was last made."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn, selectorColumn,
)

func cronJobStrategy() resource.Strategy {
	r := resource.SplitCounted(func(c *batchv1.CronJob) (*batchv1.CronJobSpec, *batchv1.CronJobStatus) { return &c.Spec, &c.Status })
	r.Default = func(c *batchv1.CronJob) {
		s := &c.Spec
		if s.ConcurrencyPolicy == "" {
			s.ConcurrencyPolicy = batchv1.AllowConcurrent
		}
		resource.SetDefault(&s.Suspend, false)
		resource.SetDefault(&s.SuccessfulJobsHistoryLimit, 3)
		resource.SetDefault(&s.FailedJobsHistoryLimit, 1)
		defaultJobTemplate(&s.JobTemplate.Spec)
	}
	r.Validate = func(c *batchv1.CronJob) field.ErrorList {
		var f check.Errors
		cronJob(&f, c, nil)
		if len(c.Name) > 52 {
			f.Invalid(check.At("metadata", "name"), c.Name, "must be no more than 52 characters")
		}
		scheduling(&f, cronScheduling, c.Spec.JobTemplate.Spec.Scheduling)
		return f.List()
	}
	r.ValidateUpdate = func(c, old *batchv1.CronJob) field.ErrorList {
		var f check.Errors
		cronJob(&f, c, old)
		changedScheduling(&f, cronScheduling, c.Spec.JobTemplate.Spec.Scheduling, old.Spec.JobTemplate.Spec.Scheduling)
		return f.List()
	}
	r.Warnings = func(c *batchv1.CronJob) []string {
		return podspec.TemplateWarnings(&c.Spec.JobTemplate.Spec.Template, check.At("spec", "jobTemplate", "spec", "template"))
	}
	return r.Strategy()
}

var cronScheduling = check.At("spec", "jobTemplate", "spec", "scheduling")

func cronJob(f *check.Errors, c, old *batchv1.CronJob) {
	p, s := check.At("spec"), &c.Spec
	if s.Schedule == "" {
		f.Required(p.Child("schedule"), "")
	} else {
		schedule(f, p.Child("schedule"), s, old != nil && strings.Contains(old.Spec.Schedule, "TZ"))
	}
	if s.StartingDeadlineSeconds != nil {
		f.NotNegative(p.Child("startingDeadlineSeconds"), *s.StartingDeadlineSeconds)
	}
	if old == nil || !ptr.Equal(old.Spec.TimeZone, s.TimeZone) {
		timeZone(f, p.Child("timeZone"), s.TimeZone)
	}
	check.OneOf(f, p.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	at, job := p.Child("jobTemplate", "spec"), &s.JobTemplate.Spec
	jobSpec(f, at, job)
	if job.Selector != nil {
		f.Invalid(at.Child("selector"), job.Selector, "`selector` will be auto-generated")
	}
	if ptr.Deref(job.ManualSelector, false) {
		f.Add(field.NotSupported(at.Child("manualSelector").Field(), job.ManualSelector, []string{"nil", "false"}))
	}
	if n := s.SuccessfulJobsHistoryLimit; n != nil {
		f.NotNegative(p.Child("successfulJobsHistoryLimit"), int64(*n))
	}
	if n := s.FailedJobsHistoryLimit; n != nil {
		f.NotNegative(p.Child("failedJobsHistoryLimit"), int64(*n))
	}
}

func schedule(f *check.Errors, p *check.Path, s *batchv1.CronJobSpec, zoneAllowed bool) {
	if err := parseSchedule(s.Schedule); err != nil {
		f.Invalid(p, s.Schedule, err.Error())
	}
	switch zoned := strings.Contains(s.Schedule, "TZ"); {
	case zoned && !zoneAllowed:
		f.Invalid(p, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case zoned && s.TimeZone != nil:
		f.Invalid(p, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

// parseSchedule calls cron's parser, which panics on some inputs.
func parseSchedule(s string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(s)
	return err
}

var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func timeZone(f *check.Errors, p *check.Path, zone *string) {
	if zone == nil {
		return
	}
	if *zone == "" {
		f.Invalid(p, zone, "timeZone must be nil or non-empty string")
		return
	}
	for _, part := range strings.Split(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			f.Invalid(p, zone, "unknown time zone "+*zone)
			return
		}
	}
	if strings.EqualFold(*zone, "Local") {
		f.Invalid(p, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		f.Invalid(p, zone, err.Error())
	}
}
