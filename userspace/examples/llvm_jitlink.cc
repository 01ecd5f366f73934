// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LLVM's newer linker, JITLink: a plugin of the linking layer registers each
 * object and the linker's stubs.
 *
 * usage: llvm_jitlink MODULE [ARGUMENT...]
 */
#include <map>
#include <mutex>

#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include "llvm_run.h"

/* The guide shows what is between these marks. begin */
class Plugin : public llvm::orc::ObjectLinkingLayer::Plugin {
	using Object = llvm::orc::MaterializationResponsibility;
	using Key = llvm::orc::ResourceKey;

	struct Sections {
		sfjit_range frames{};
		std::vector<sfjit_range> text, stubs;
	};

	std::mutex mutex;
	std::map<Object *, Sections> linked;	/* not executable yet */
	std::map<Key, std::vector<sfjit_code *>> codes;

	static bool is_executable(const llvm::jitlink::Section &section)
	{
		using llvm::BitmaskEnumDetail::operator&;

		return (section.getMemProt() & llvm::orc::MemProt::Exec) ==
		       llvm::orc::MemProt::Exec;
	}

	static Sections find_sections(llvm::jitlink::LinkGraph &graph)
	{
		Sections found;

		for (llvm::jitlink::Section &section : graph.sections()) {
			llvm::jitlink::SectionRange where(section);
			sfjit_range range = { where.getStart().toPtr<void *>(),
					      where.getSize() };

			if (where.empty())
				continue;
			if (section.getName() == ".eh_frame")
				found.frames = range;
			else if (section.getName() == "$__STUBS")
				found.stubs.push_back(range);
			else if (is_executable(section))
				found.text.push_back(range);
		}
		return found;
	}

	/* Register each alone: some sections have no function with CFI. */
	static void register_ranges(const Sections &sections,
				    const std::vector<sfjit_range> &ranges,
				    unsigned int flags,
				    std::vector<sfjit_code *> &codes)
	{
		sfjit_code *code;

		/* On failure stacks are truncated; the program runs anyway. */
		for (const sfjit_range &range : ranges)
			if (!sfjit_register_eh_frame(sections.frames.start,
						     sections.frames.length,
						     &range, 1, flags, &code))
				codes.push_back(code);
	}

	static void retire(std::vector<sfjit_code *> &codes)
	{
		for (sfjit_code *code : codes)
			sfjit_code_retire(code);
	}

public:
	void modifyPassConfig(Object &object, llvm::jitlink::LinkGraph &,
			      llvm::jitlink::PassConfiguration &passes) override
	{
		passes.PostFixupPasses.push_back(
			[this, &object](llvm::jitlink::LinkGraph &graph) {
				std::lock_guard<std::mutex> lock(mutex);

				linked[&object] = find_sections(graph);
				return llvm::Error::success();
			});
	}

	llvm::Error notifyEmitted(Object &object) override
	{
		std::lock_guard<std::mutex> lock(mutex);
		Sections sections = std::move(linked[&object]);
		std::vector<sfjit_code *> made;

		linked.erase(&object);
		register_ranges(sections, sections.text, 0, made);
		/* Stubs only jump to the target of a call. */
		register_ranges(sections, sections.stubs, SFJIT_GAPS_CALLED,
				made);
		llvm::Error error = object.withResourceKeyDo([&](Key key) {
			codes[key].insert(codes[key].end(), made.begin(),
					  made.end());
		});
		if (error)
			retire(made);
		return error;
	}

	llvm::Error notifyFailed(Object &object) override
	{
		std::lock_guard<std::mutex> lock(mutex);

		linked.erase(&object);
		return llvm::Error::success();
	}

	/* Before the layer unmaps the code. */
	llvm::Error notifyRemovingResources(llvm::orc::JITDylib &,
					    Key key) override
	{
		std::lock_guard<std::mutex> lock(mutex);

		retire(codes[key]);
		codes.erase(key);
		return llvm::Error::success();
	}

	void notifyTransferringResources(llvm::orc::JITDylib &, Key to,
					 Key from) override
	{
		std::lock_guard<std::mutex> lock(mutex);

		codes[to].insert(codes[to].end(), codes[from].begin(),
				 codes[from].end());
		codes.erase(from);
	}
};
/* end */

int main(int argc, char **argv)
{
	llvm::orc::LLJITBuilder builder;

	builder.setObjectLinkingLayerCreator(
		[](llvm::orc::ExecutionSession &session, const llvm::Triple &) {
			auto layer = std::make_unique<
				llvm::orc::ObjectLinkingLayer>(session);

			/* Needed for exceptions. */
			layer->addPlugin(std::make_unique<
				llvm::orc::EHFrameRegistrationPlugin>(session,
				std::make_unique<
				llvm::jitlink::InProcessEHFrameRegistrar>()));
			layer->addPlugin(std::make_unique<Plugin>());
			return layer;
		});
	return run_module(builder, argc, argv);
}
