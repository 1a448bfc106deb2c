"""The study of [Rocchetti2015] repeated: waits by accuracy class in six scenarios, under PSP and under EASY."""
