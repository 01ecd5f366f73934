/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Shared by the examples for LLVM 19: compile a module and run it.
 */
#ifndef LLVM_RUN_H
#define LLVM_RUN_H

#include <string>
#include <vector>

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/TargetExecutionUtils.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <sfjit.h>
#include <sfjit/code.h>

/*
 * LLVM writes call frame information only for code that exceptions can pass
 * through. The attribute requests it for all functions.
 */
static inline void ask_for_cfi(llvm::Module &module)
{
	for (llvm::Function &function : module)
		if (!function.isDeclaration())
			function.setUWTableKind(llvm::UWTableKind::Async);
}

static inline llvm::Expected<int> run_main(llvm::orc::LLJITBuilder &builder,
					   const char *path,
					   const std::vector<std::string> &args)
{
	auto context = std::make_unique<llvm::LLVMContext>();
	llvm::SMDiagnostic why;
	std::unique_ptr<llvm::Module> module =
		llvm::parseIRFile(path, why, *context);

	if (!module)
		return llvm::createStringError(why.getMessage());
	ask_for_cfi(*module);
	auto jit = builder.create();
	if (!jit)
		return jit.takeError();
	if (auto error = (*jit)->addIRModule({ std::move(module),
					       std::move(context) }))
		return error;
	if (auto error = (*jit)->initialize((*jit)->getMainJITDylib()))
		return error;
	auto entry = (*jit)->lookup("main");
	if (!entry)
		return entry.takeError();
	int status = llvm::orc::runAsMain(entry->toPtr<int (*)(int, char **)>(),
					  args, llvm::StringRef(path));
	if (auto error = (*jit)->deinitialize((*jit)->getMainJITDylib()))
		return error;
	return status;
}

/* usage: PROGRAM MODULE [ARGUMENT...]: runs main() of the module. */
static inline int run_module(llvm::orc::LLJITBuilder &builder, int argc,
			     char **argv)
{
	if (argc < 2)
		return 2;
	sfjit_cover_modules(0);	/* before any thread starts */
	llvm::InitializeNativeTarget();
	llvm::InitializeNativeTargetAsmPrinter();
	auto status = run_main(builder, argv[1], { argv + 2, argv + argc });
	if (status)
		return *status;
	llvm::logAllUnhandledErrors(status.takeError(), llvm::errs(),
				    "error: ");
	return 1;
}

#endif /* LLVM_RUN_H */
