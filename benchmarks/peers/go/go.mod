module tickwheel/benchmarks/peers

go 1.23

require github.com/RussellLuo/timingwheel v0.0.0-20220218152713-54845bda3108
