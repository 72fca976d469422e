// Package doctor says what limits pinning and loading on a machine: one line a
// finding, with what was found, why it matters and what to do about it.
//
// [Examine] is a pure function: whoever calls it gathers the [Facts], from
// package pressure and from the driver, and shows the [Report] or writes it as
// text or JSON. A fact that is not known gives a finding that says so.
package doctor
