package bench

import (
	"errors"
	"fmt"
	"strconv"

	"pinscope/bench/pressure"
)

// hold is what a session keeps allocated between the turns of its sides.
type hold uint8

const (
	holdAll  hold = iota // everything: nothing is allocated between turns
	holdData             // data sets: a side's slots are there for its turn alone
	holdTurn             // nothing: a side's data set too is there for its turn alone
)

// label names the side of a number among several, "" for a side alone.
func label(kind Kind, i, of int) string {
	switch {
	case of == 1 && kind == KindRun:
		return ""
	case kind == KindSweep:
		return strconv.Itoa(i + 1)
	default:
		return string(rune('A' + i))
	}
}

// fit decides what is held, so that ladders and sweeps, of many sides, run on a
// machine that could run each of them. Sides that do not fit alone are left out.
func (s *session) fit(limits Limits) error {
	kept := []*side{}
	var refused []error
	for _, side := range s.sides {
		err := CheckPlans([]Plan{side.plan}, limits, side.config.RiskMemory)
		if err == nil {
			kept = append(kept, side)
			continue
		}
		refused = append(refused, side.config.blame(guard([]Plan{side.plan}, limits, side.config.RiskMemory).Settings, err))
		s.warn(fmt.Sprintf("%s is left out: %v", side.called(), err))
	}
	if len(kept) == 0 || s.result.Kind == KindLadder && len(kept) < 2 {
		return errors.Join(refused...)
	}
	s.sides = kept
	for s.hold = holdAll; s.hold < holdTurn && !s.holds(limits); s.hold++ {
	}
	for _, side := range s.sides {
		if d := guard([]Plan{side.plan}, limits, side.config.RiskMemory); d.Verdict == pressure.Risked {
			s.warn(d.Text)
			break
		}
	}
	if s.hold != holdAll {
		s.warn(fmt.Sprintf("memory does not hold all %d at once: slots are allocated for each turn anew, before its clock starts", len(s.sides)))
	}
	return nil
}

// holds says whether what the session holds leaves room for each side's turn.
func (s *session) holds(limits Limits) bool {
	risk := s.sides[0].config.RiskMemory
	if s.hold == holdAll {
		return CheckPlans(s.plans(), limits, risk) == nil
	}
	for i := range s.sides {
		plans := s.plans()
		for j := range plans {
			if j != i {
				plans[j] = plans[j].dataAlone()
			}
		}
		if CheckPlans(plans, limits, risk) != nil {
			return false
		}
	}
	return true
}

// dataAlone is the part of a plan that is the data set.
func (p Plan) dataAlone() Plan {
	return Plan{data: p.data, DatasetBytes: p.DatasetBytes, HostBytes: p.DatasetBytes, PinnedBytes: p.datasetPinned()}
}

// begin allocates what a side needs for its turn, if that is not held.
func (s *session) begin(side *side) error {
	if s.hold == holdAll {
		return nil
	}
	release, err := s.device.Bind()
	if err != nil {
		return err
	}
	defer release()
	first := side.setups
	if err := side.setup(); err != nil {
		return err
	}
	if first.SlotsDuration > 0 { // the data set was opened for an earlier turn
		side.setups.SourceDuration, side.setups.SourceShared = first.SourceDuration, first.SourceShared
	}
	return nil
}

// end frees what begin allocated; next is the side whose turn follows, or nil.
func (s *session) end(side, next *side) error {
	if s.hold == holdAll {
		return nil
	}
	release, err := s.device.Bind()
	if err != nil {
		return err
	}
	defer release()
	errs := []error{side.close()}
	if s.hold == holdTurn && (next == nil || !sameData(side.config, next.config)) {
		errs = append(errs, s.data.close())
	}
	return errors.Join(errs...)
}

// called is a side's label and name.
func (s *side) called() string {
	if s.name == "" {
		return s.label
	}
	return s.label + " (" + s.name + ")"
}
