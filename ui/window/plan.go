//go:build !headless

package window

import (
	"time"

	"pinscope/bench"
	"pinscope/ui/client"
)

// planner asks the runner what settings come to, a moment after they have changed.
// The window itself opens no device and no file of data.
type planner struct {
	border  *border
	program string
	told    func(plan)
	serial  int // of the newest question
	timer   *time.Timer
}

// plan is the answer.
type plan struct {
	start   *bench.StartInfo
	plans   []bench.PlanInfo
	failure string // why there is none
	limits  bench.Limits
}

// pause is how long the settings have to rest before the runner is asked.
const pause = 250 * time.Millisecond

// ask has the answer for c told later; an older question is forgotten.
func (p *planner) ask(c bench.Config) {
	p.forget()
	serial, args := p.serial, append([]string{string(bench.KindRun)}, c.Args()...)
	p.timer = time.AfterFunc(pause, func() {
		answer := work(p.program, args)
		p.border.do(func() {
			if serial == p.serial {
				p.told(answer)
			}
		})
	})
}

// forget drops what was asked.
func (p *planner) forget() {
	p.serial++
	if p.timer != nil {
		p.timer.Stop()
	}
}

// mostPlanning is how long the runner may take to read what a plan rests on, such as the list of a folder.
const mostPlanning = 30 * time.Second

func work(program string, args []string) plan {
	runner, err := client.Start(program, append(args, "--dry-run")...)
	if err != nil {
		return plan{failure: err.Error()}
	}
	giveUp := time.AfterFunc(mostPlanning, runner.Stop)
	defer giveUp.Stop()
	<-runner.Done()
	state := runner.State()
	answer := plan{start: state.Start, plans: state.Plans, limits: bench.SystemLimits()}
	if o := runner.Outcome(); len(answer.plans) == 0 || o.Input {
		answer.failure = o.Failure
	}
	return answer
}
