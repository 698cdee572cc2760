package supervisor_test

// The reasons why a test does not hold on gVisor.
const (
	noReuse  = "no container is used twice, since gVisor does not list all that a program can leave"
	oneLimit = "memory and processes are limited for the sandbox as a whole: whoever exceeds them loses it"
	ownInit  = "signals reach process 1 and end the sandbox, and the numbers of its open files are listed"
	other    = "it reads what gVisor has in another form or not at all"
)

// notOnGVisor are the tests that do not hold with SANDLOOP_TEST_RUNTIME=runsc, see docs/gvisor.md.
var notOnGVisor = map[string]string{
	"TestCancelThatComesAfterTheEndConcernsNoOtherJob": noReuse,
	"TestCleanSandboxEndsWithItsWorker":                noReuse,
	"TestNextJobMustExpectTheSameLimits":               noReuse,
	"TestProgramCannotWidenItsOwnPipes":                noReuse,
	"TestSandboxTakesAnotherJobOnceItIsClean":          noReuse,
	"TestSandboxThatIsNotAsItWasTakesNoOtherJob":       noReuse,
	"TestTalkFrameByFrame":                             noReuse,
	"TestExactlySoManyProcessesAsAsked":                oneLimit,
	"TestForkBombIsContainedAndEnded":                  oneLimit,
	"TestLowestLimitsStillRunAProgram":                 oneLimit,
	"TestMemoryFullOfFilesDoesNotTakeTheReport":        oneLimit,
	"TestOutOfMemoryOfAChildIsCounted":                 oneLimit,
	"TestOutOfMemoryOfTheMainProcess":                  oneLimit,
	"TestProcess1CannotBeOpenedTracedOrForged":         ownInit,
	"TestProgramCannotDelayItsEndByStarvingProcess1":   other,
	"TestSignalsDoNotReachProcess1":                    ownInit,
	"TestChildIgnoresNoSignal":                         other,
	"TestChildStartsWithNothingButWhatIsPromised":      other,
	"TestGuardHoldsForCallsOf32BitPrograms":            other,
	"TestHundredMegabytesOnBothStreams":                other,
	"TestJobHasTheUsualTimerSlackAndTheLowestPriority": other,
	"TestLimitThatIsNotInForceIsAFault/no_pids":        other,
	"TestLimitThatIsNotInForceIsAFault/pids":           other,
	"TestLimitThatIsNotInForceIsAFault/seccomp":        other,
	"TestLimitThatIsNotInForceIsAFault/swap":           other,
	"TestOutputInFlightDoesNotHoldTheStep":             other,
	"TestViewIsWhatTheKernelSays":                      other,
}
