package docker

import "github.com/sandloop/sandloop/internal/testenv"

// The reasons why a test does not hold on gVisor.
const (
	noReuse  = "no container is used twice, since gVisor does not list all that a program can leave"
	noUpdate = "limits of running containers are not changed, so warm ones serve only jobs with the same limits"
	oneLimit = testenv.OneLimit
	noFilter = "the profile is not applied: no system call reaches the host's kernel as the program made it"
	noLocks  = "gVisor reads what it executes as the user, so the volume is open; it shares no locks"
	other    = "it reads what gVisor has in another form or not at all"
)

// notOnGVisor are the tests that do not hold with SANDLOOP_TEST_RUNTIME=runsc. docs/gvisor.md tells the same in fewer words.
var notOnGVisor = map[string]string{
	"TestAPlainFailureRetiresNoContainer":                   noReuse,
	"TestBytesAreThoseOfAllTestsOfAJob":                     noReuse,
	"TestCanceledProgramRetiresItsContainer":                noReuse,
	"TestContainerIsRetiredAfterSoManyPrograms":             noReuse,
	"TestContainerThatNobodyNeedsIsRemoved":                 noReuse,
	"TestContainerThatCannotBeCleanedIsReplaced":            noReuse,
	"TestFewestOpenFilesAreEnoughInEveryMode":               noReuse,
	"TestFilesAreThereForTheirTestAlone":                    noReuse,
	"TestHostileTreesAreWiped":                              noReuse,
	"TestKeptContainerThatDiedIsReplacedWithoutHarm":        noReuse,
	"TestManyProgramsAtOnceShareAsManyContainers":           noReuse,
	"TestNoOtherProgramGetsAUsedContainer":                  noReuse,
	"TestNoProgramChangesWhatTheNextInherits":               noReuse,
	"TestNoTestChangesWhatTheNextInherits":                  noReuse,
	"TestNothingThatAProgramLeavesIsSeenByTheNext":          noReuse,
	"TestNothingThatATestLeavesIsSeenByTheNext":             noReuse,
	"TestProgramThatReplacesItselfIsRestored":               noReuse,
	"TestProgramsOfABatchShareAContainer":                   noReuse,
	"TestProgramsOfABatchTalkInOneContainer":                noReuse,
	"TestSeriesLimitsAreThoseOfEachTest":                    noReuse,
	"TestSeriesOfABatchShareAContainer":                     noReuse,
	"TestSubmissionAndValidatorTalk":                        noReuse,
	"TestSubmissionIsCompiledOnceForTwentyTests":            noReuse,
	"TestTalkThatNeedsAnotherContainerLosesNothing":         noReuse,
	"TestTestsWithAndWithoutTalkFollowEachOther":            noReuse,
	"TestEachTestOfASeriesIsARun":                           noReuse,
	"TestUsedContainerIsNoWarmOne":                          noReuse,
	"TestWhatCannotBeCleanedAwayRetiresTheContainer":        noReuse,
	"TestCompileStepDoesNotDecideWhatATestFinds":            noReuse,
	"TestCompileStepThatLeavesTooMuchIsACompileError":       noReuse,
	"TestWhatTheCompileStepMadeIsKeptAsItIs":                noReuse,
	"TestDeadWarmContainerThatNeedsOtherLimits":             noUpdate,
	"TestDeadWarmContainerWhoseConnectionStillStands":       noUpdate,
	"TestWarmContainerIsAdoptedForOtherLimits":              noUpdate,
	"TestAnOddEndRetiresTheContainer":                       oneLimit,
	"TestCaseForkBombIsContained":                           oneLimit,
	"TestCaseInputThatCannotFitIsRejected":                  oneLimit,
	"TestCaseOutOfMemoryIsTheKernelsWord":                   oneLimit,
	"TestCasePIDsLimitIsExact":                              oneLimit,
	"TestFilesOfEachTestComeBack":                           oneLimit,
	"TestSeriesGoesOnAfterEveryKindOfFailure":               oneLimit,
	"TestA32BitCallEndsTheProgram":                          noFilter,
	"TestTheProfileAnswersTheCallsOfLibrariesAsDockersDoes": noFilter,
	"TestTheProfileIsNotDockers":                            noFilter,
	"TestTheProfileRefusesEveryCallThatNoLanguageNeeds":     noFilter,
	"TestProgramsCannotOpenWhatAllSandboxesHaveInCommon":    noLocks,
	"TestAnyImageIsTakenUnchangedAndUnobeyed":               other,
	"TestCaseDefaultLimitsReadBackFromInside":               other,
	"TestCaseOverriddenLimitsReadBackFromInside":            other,
}
