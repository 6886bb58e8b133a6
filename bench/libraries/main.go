package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if text := os.Getenv(jobEnv); text != "" {
		beChild(text)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "libraries:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	groups := flag.String("rows", "all", "what to run, comma-separated: sync, events, pipeline, lookups, queue, delayed, limited")
	against := flag.String("against", strings.Join(order, ","), "libraries to run, comma-separated; ratios are those of the first to the others")
	rounds := flag.Int("rounds", 3, "how often each library has its turn at a row")
	pods := flag.String("pods", "10000,100000", "how many pods the first lists have, comma-separated")
	kubeconfig := flag.String("kubeconfig", "", "a server to list from in place of the one that plays bytes: first lists only, of as many pods as it has")
	fill := flag.Bool("fill", false, "first make the pods that -pods says at the server of -kubeconfig")
	output := flag.String("o", "table", "table, or json for machines (the table is then on stderr)")
	profiles := flag.String("profiles", "", "a folder to keep profiles of CPU and heap of each library's last turn in (figures then count for nothing)")
	s := sizes{}
	flag.IntVar(&s.events, "events", 20000, "how many events are measured")
	flag.IntVar(&s.items, "items", 500000, "how many keys go through a queue")
	flag.Parse()
	for p := range strings.SplitSeq(*pods, ",") {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n >= 10_000_000 {
			return fmt.Errorf("-pods %s: want numbers below ten million", *pods)
		}
		s.pods = append(s.pods, n)
	}
	if *output != "table" && *output != "json" {
		return fmt.Errorf("-o %s: want table or json", *output)
	}
	names := strings.Split(*against, ",")
	dir, err := os.MkdirTemp("", "libraries")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built, err := buildPrograms(ctx, dir, names)
	if err != nil {
		return err
	}
	if *kubeconfig != "" {
		text, err := os.ReadFile(*kubeconfig)
		if err != nil {
			return err
		}
		if s.config = string(text); *fill {
			if err := fillServer(ctx, s); err != nil {
				return err
			}
		}
	}
	rows := s.rows()
	if *groups != "all" {
		wanted := strings.Split(*groups, ",")
		rows = slices.DeleteFunc(rows, func(r row) bool { return !slices.Contains(wanted, r.Row) })
	}
	if len(rows) == 0 {
		return fmt.Errorf("-rows %s: there are none", *groups)
	}
	r := newReport(names, *rounds)
	for _, row := range rows {
		fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), row.name)
		for round := range *rounds {
			for i := range names {
				name := names[i]
				if round%2 == 1 { // there and back, so that drift hits all
					name = names[len(names)-1-i]
				}
				row.Profiles = *profiles
				f, err := row.turn(ctx, name, built[name])
				if err != nil {
					return err
				}
				r.add(row, name, f)
			}
		}
	}
	return r.print(*output)
}

// turn has one library do the row's job.
func (r row) turn(ctx context.Context, library, program string) (figures, error) {
	j := r.job
	j.Library = library
	if j.Pods > 0 && j.Config == "" {
		s, err := startTape(j.Pods)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		j.URL = s.url
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return j.child(ctx, program)
}
