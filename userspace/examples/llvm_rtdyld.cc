// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LLVM's older linker, RuntimeDyld, used by MCJIT and many users of ORC: a
 * memory manager registers each object when it is final.
 *
 * usage: llvm_rtdyld MODULE [ARGUMENT...]
 */
#include <map>

#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>

#include "llvm_run.h"

/* The guide shows what is between these marks. begin */
class MemoryManager : public llvm::SectionMemoryManager {
	struct Section {
		std::string name;
		uint8_t *start;
		size_t size, stubs;	/* stubs follow the code */
	};

	std::vector<Section> sections;	/* sections that are not final yet */
	std::vector<sfjit_range> frames;
	std::vector<sfjit_code *> codes;

	void register_text(const sfjit_range &range, unsigned int flags)
	{
		sfjit_code *code;

		/* On failure stacks are truncated; the program runs anyway. */
		for (const sfjit_range &frame : frames)
			if (!sfjit_register_eh_frame(frame.start, frame.length,
						     &range, 1, flags, &code))
				codes.push_back(code);
	}

public:
	using SectionMemoryManager::notifyObjectLoaded;

	/* Before the base class unmaps the code. */
	~MemoryManager() override
	{
		for (sfjit_code *code : codes)
			sfjit_code_retire(code);
	}

	uint8_t *allocateCodeSection(uintptr_t size, unsigned int alignment,
				     unsigned int id,
				     llvm::StringRef name) override
	{
		uint8_t *start = SectionMemoryManager::allocateCodeSection(
			size, alignment, id, name);

		if (start && size)
			sections.push_back({ name.str(), start, size, 0 });
		return start;
	}

	/* Allocated bytes outside of the object are for stubs. */
	void notifyObjectLoaded(llvm::RuntimeDyld &,
				const llvm::object::ObjectFile &object) override
	{
		std::multimap<std::string, size_t> sizes;

		for (const llvm::object::SectionRef &part : object.sections())
			sizes.insert({ llvm::cantFail(part.getName()).str(),
				       part.getSize() });
		for (Section &section : sections) {
			auto of_object = sizes.find(section.name);

			if (sizes.count(section.name) == 1 &&
			    of_object->second < section.size)
				section.stubs = section.size -
						of_object->second;
		}
	}

	/* The code is not executable yet. */
	void registerEHFrames(uint8_t *start, uint64_t load_address,
			      size_t size) override
	{
		SectionMemoryManager::registerEHFrames(start, load_address,
						       size);
		frames.push_back({ start, size });
	}

	bool finalizeMemory(std::string *message) override
	{
		if (SectionMemoryManager::finalizeMemory(message))
			return true;
		for (const Section &section : sections) {
			size_t code = section.size - section.stubs;

			register_text({ section.start, code }, 0);
			/* Stubs only jump to the target of a call. */
			register_text({ section.start + code, section.stubs },
				      SFJIT_GAPS_CALLED);
		}
		sections.clear();
		frames.clear();
		return false;
	}
};
/* end */

int main(int argc, char **argv)
{
	llvm::orc::LLJITBuilder builder;

	builder.setObjectLinkingLayerCreator(
		[](llvm::orc::ExecutionSession &session, const llvm::Triple &) {
			return std::make_unique<
				llvm::orc::RTDyldObjectLinkingLayer>(
				session, std::make_unique<MemoryManager>);
		});
	return run_module(builder, argc, argv);
}
