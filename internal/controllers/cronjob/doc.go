// Package cronjob creates Jobs at the times of a CronJob's schedule.
//
// A Job's name carries its time in minutes, so that a time is served once, by
// whomever. Of several times missed, while nobody ran or a predecessor was
// waited for, only the last is made up for, and none that is older than
// startingDeadlineSeconds. concurrencyPolicy settles what happens while a Job
// of the CronJob still runs. Finished Jobs beyond the history limits are
// deleted.
//
// Nothing is polled: a pass asks to come back at the next time of the schedule, which
// for @every is counted from the last time served, not from when it looks.
package cronjob
