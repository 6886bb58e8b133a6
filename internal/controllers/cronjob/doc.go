// Package cronjob creates Jobs at the times of a CronJob's schedule.
//
// A Job's name contains its time in minutes, so that each time is served once, even by several controllers. If
// several times were missed, while no controller ran or a predecessor was running, only the last is made up for,
// unless it is older than startingDeadlineSeconds. concurrencyPolicy applies while a Job of the CronJob is
// still running. Finished Jobs beyond the history limits are deleted.
//
// The controller does not poll: a pass requeues its key for the next time of the schedule, which for @every is
// counted from the last time served, not from the time of the pass.
package cronjob
