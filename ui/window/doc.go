// Package window is Pinscope's window, made with Fyne.
//
// [Open] builds it; the program then runs the Fyne loop. Everything in this
// package belongs to the Fyne goroutine: fields are read and written there alone.
// Code in a goroutine of our own crosses over by [border.do], and nowhere else.
//
// A page is a type with a content and a show method that takes values of package
// view; switching the language builds all pages anew.
package window
