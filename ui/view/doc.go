// Package view is what the window shows, as plain values: texts that are already
// put into words, shares from 0 to 1, whether something is enabled. Pure functions
// make them from the form, from a run under way and from results. There are no
// widgets here; package window copies these values out.
package view
