// All is defined: begin.

startRules();
startSamples();
