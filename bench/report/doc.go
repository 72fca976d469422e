// Package report draws results: charts for window and file, and a report of one
// page that carries its result.
//
// A chart is a pure function from figures to a [Chart], which draws itself on
// any vg canvas of any size; [Stack] draws several on one time axis. [WritePNG],
// [WriteSVG] and [WriteMarkdown] write the report of a whole result, and
// [Extract] takes the result out of a PNG report again.
//
// What is not a finite number is left out where figures enter, and counted in a
// footnote; without any figures a chart says "no data". Nothing here reads a
// clock, opens a file or starts a goroutine. All functions may be called from
// any goroutine; a Chart is drawn by one goroutine at a time.
package report
