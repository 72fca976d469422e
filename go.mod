module pinscope

go 1.26.0
