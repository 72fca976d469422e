// Package ui is Pinscope's window, in builds that have one. The window itself is
// in package window; what it shows is made by package view out of the form, the
// runner's events (package client) and saved results (package history).
package ui
