# Of `signal`, what is written in C: Python looks for signals where functions of its own begin.

from signal import getsignal as getsignal
from signal import pthread_sigmask as pthread_sigmask
from signal import signal as signal
